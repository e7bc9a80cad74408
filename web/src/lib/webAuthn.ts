/** Passkeys of this browser, by WebAuthn Level 3. */
import { publicUrl } from './config';

/**
 * Whether this browser can use passkeys here.
 *
 * It can in secure contexts only, and passkeys belong to the public URL. Browsers from before 2025
 * cannot read options as JSON.
 */
export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function' &&
    location.origin === publicUrl()
  );
}

/** Whether the browser can offer passkeys in the list of a field. */
export async function canOfferPasskeys(): Promise<boolean> {
  return hasPasskeys() && (await PublicKeyCredential.isConditionalMediationAvailable());
}

/**
 * Creates a passkey. Returns its RegistrationResponseJSON.
 *
 * Throws a DOMException: NotAllowedError if the user declined, InvalidStateError if the
 * authenticator has a passkey of the account.
 */
export async function createPasskey(
  options: PublicKeyCredentialCreationOptionsJSON,
): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return toJson(await navigator.credentials.create({ publicKey }));
}

/**
 * Asks for a passkey. Returns its AuthenticationResponseJSON.
 *
 * With the mediation `conditional`, it waits until the user chooses one in a field. Throws a
 * DOMException: NotAllowedError if the user declined, AbortError after the signal.
 */
export async function askForPasskey(
  options: PublicKeyCredentialRequestOptionsJSON,
  mediation: CredentialMediationRequirement,
  signal: AbortSignal,
): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return toJson(await navigator.credentials.get({ publicKey, mediation, signal }));
}

function toJson(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw new TypeError('not a passkey');
  return credential.toJSON();
}

/** The name of an error of WebAuthn, such as NotAllowedError; '' for other errors. */
export function webAuthnError(error: unknown): string {
  return error instanceof DOMException ? error.name : '';
}
