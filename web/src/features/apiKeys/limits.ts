/** Maximum number of keys of an account. */
export const MAX_KEYS = 20;
