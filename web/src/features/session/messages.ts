/** Texts of logging in, registering and the account itself. */
export const messages = {
  email: 'Email',
  password: 'Password',
  username: 'Username',
  currentPassword: 'Current password',
  newPassword: 'New password',
  ruleMet: '(met)',
  ruleNotMet: '(not met)',
  noPassword: 'Please enter your password',
  confirm: 'Your login was too long ago. Please confirm it first.',
  revoke: 'Also revoke all API keys and passkeys',
  revokeHint:
    'Use this if somebody else may have used your account. Programs with an API key stop working, and you can no longer log in with a passkey.',
  sessionEnded: 'Your session has ended. Please log in again.',
  failed: 'Something went wrong. Please try again.',
  tooMany: (when: string) => `Too many attempts. Please try again ${when}.`,
  outdated: 'A new version of this page is available. Please reload it.',
};

export const login = {
  title: 'Log in',
  description: 'Log in to Atajo to see your links and their views.',
  submit: 'LOGIN',
  forgot: 'Forgot your password?',
  noAccount: 'No account yet?',
  register: 'Register',
  incorrect: 'Incorrect password',
  'no-exist': 'No accound found with this email',
  suspended: 'This account is suspended: the operator of this site has locked it.',
};

export const register = {
  title: 'Register',
  description: 'Create a free Atajo account to keep your links together and see their views.',
  submit: 'REGISTER',
  hasAccount: 'Already registered?',
  logIn: 'Log in',
  exist: 'This email is already registered',
  invite: 'Registration is by invitation.',
  closed: 'Registration is closed.',
  invitation:
    'This invitation is not valid: it was used, has expired, or is for another email address.',
  noEmail: 'Please enter an email address',
  noUsername: 'Please enter a username',
  longUsername: 'Username need to have less than 30 characters',
  badEmail: 'Please enter a valid email',
  /** In Spanish, as the specification has them. */
  rules: {
    length: 'Al menos 8 caracteres',
    uppercase: 'Al menos una letra mayúscula',
    digit: 'Al menos un dígito',
    symbol: 'Al menos un símbolo',
    bytes: 'Como máximo 72 bytes',
  },
};

export const account = {
  password: 'Password',
  changePassword: 'Change password',
  passwordChanged: 'Your password was changed. All other sessions were logged out.',
  codesDeleted: 'A new password deletes your recovery codes. Create new ones afterwards.',
  deleteAccount: 'Delete account',
  deleteQuestion: 'Delete your account?',
  deletePermanently: 'Delete permanently',
  deletion:
    'Your account, its links and their statistics are deleted permanently. The short links stop working, and their codes are never reused.',
  deleted: 'Your account was deleted.',
  lastAdministrator:
    'You are the only administrator. Make somebody else one before you delete your account.',
};
