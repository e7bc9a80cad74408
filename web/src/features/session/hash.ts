import { genSalt, hash } from 'bcryptjs';

const COST = 10;

export interface HashedPassword {
  password: string;
  salt: string;
}

/** A fresh salt and the hash made with it, in slices that leave the page alive. */
export async function hashPassword(plain: string): Promise<HashedPassword> {
  const salt = await genSalt(COST);
  return { password: await hash(plain, salt), salt };
}
