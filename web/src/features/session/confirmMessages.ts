/** Texts of the dialog that asks an administrator for the password again. */
export const confirmation = {
  title: 'Confirm that it is you',
  why: 'You logged in or confirmed this more than 15 minutes ago. Nothing has been changed yet.',
  submit: 'Confirm',
  passkey: 'Confirm with a passkey',
  declined: 'No passkey was used. You can try again, or enter your password.',
  wrongPasskey: 'This passkey does not belong to your account.',
};
