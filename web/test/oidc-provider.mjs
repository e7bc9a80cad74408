/**
 * The certified provider `oidc-provider`, with two accounts and its own forms to log in:
 * node oidc-provider.mjs ISSUER REDIRECT_URI
 *
 * Prints a line once it listens. An account's id is what is typed as the login, with any password.
 */
import Provider from 'oidc-provider';

const [issuer, redirect] = process.argv.slice(2);

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'atajo',
      client_secret: 'a-secret-of-the-test',
      redirect_uris: [redirect],
      token_endpoint_auth_method: 'client_secret_basic',
    },
  ],
  claims: {
    openid: ['sub'],
    email: ['email', 'email_verified'],
    profile: ['preferred_username', 'name'],
  },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      email: `${id}@example.com`,
      email_verified: id !== 'unverified',
      preferred_username: id,
    }),
  }),
  pkce: { required: () => true },
  cookies: { keys: ['a-key-of-the-test'] },
});

// Its forms would load a font from elsewhere.
provider.use(async (context, next) => {
  await next();
  if (typeof context.body === 'string')
    context.body = context.body.replace(/@import url\([^)]*\);/, '');
});

provider.listen(Number(new URL(issuer).port), '127.0.0.1', () => console.log('listening'));
