import { genSalt, hash } from 'bcryptjs';

const COST = 10;

export interface HashedPassword {
  password: string;
  salt: string;
}

/**
 * Returns a new salt and the hash of a password with it. Hashes in slices, so that the page stays
 * responsive.
 */
export async function hashPassword(plain: string): Promise<HashedPassword> {
  const salt = await genSalt(COST);
  return { password: await hash(plain, salt), salt };
}
