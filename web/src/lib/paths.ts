/** Every path of the product. The route table and all links read from here. */
import { pages } from './edge';

export const paths = { ...pages, redirect: '/:shortLink' } as const;
