/**
 * Passkeys of this browser, by WebAuthn Level 3.
 *
 * Extensions of password managers replace the browser's functions. Their credentials are plain
 * objects, or have the browser's prototype, whose `toJSON` and getters throw on them. So the JSON is
 * built from the buffers.
 */
import { base64url } from './base64url';
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
  const credential = await navigator.credentials.create({ publicKey });
  return toJson(credential, ['clientDataJSON', 'attestationObject']);
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
  const credential = await navigator.credentials.get({ publicKey, mediation, signal });
  return toJson(
    credential,
    ['clientDataJSON', 'authenticatorData', 'signature'],
    optional(credential, 'userHandle'),
  );
}

type Buffers = Record<string, unknown>;

/**
 * Returns the JSON of a credential with these buffers of its response, which are all that the server
 * reads. Throws a TypeError if one of them is missing.
 */
function toJson(credential: unknown, names: readonly string[], more: Buffers = {}): unknown {
  const { rawId, response } = (credential ?? {}) as { rawId?: unknown; response?: Buffers };
  const id = encoded(rawId);
  const required = names.map((name): [string, string] => [name, encoded(response?.[name])]);
  return {
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response: { ...Object.fromEntries(required), ...more },
  };
}

/** Returns a buffer of a credential's response by its name, nothing if it has none. */
function optional(credential: unknown, name: string): Buffers {
  try {
    return { [name]: encoded((credential as { response: Buffers }).response[name]) };
  } catch {
    return {};
  }
}

function encoded(buffer: unknown): string {
  if (ArrayBuffer.isView(buffer)) {
    return base64url(new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength));
  }
  // An extension may have its own ArrayBuffer, of which a buffer is no instance here.
  if (Object.prototype.toString.call(buffer) !== '[object ArrayBuffer]') {
    throw new TypeError('not a passkey');
  }
  return base64url(new Uint8Array(buffer as ArrayBuffer));
}

/** The name of an error of WebAuthn, such as NotAllowedError; '' for other errors. */
export function webAuthnError(error: unknown): string {
  return error instanceof DOMException ? error.name : '';
}
