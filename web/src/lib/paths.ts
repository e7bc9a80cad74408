/** Every path of the product, for the route table and all links. */
import { pages } from './edge';

export const paths = { ...pages, redirect: '/:shortLink' } as const;
