import type * as english from '../../../lib/language';

export const language: typeof english.language = { tag: 'es', dates: 'es' };
