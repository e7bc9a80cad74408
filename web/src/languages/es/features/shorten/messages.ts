import type * as english from '../../../../features/shorten/messages';
import { fromNow } from '../../../../lib/format';
import { messages as shared } from '../../components/messages';

export const messages: typeof english.messages = {
  field: 'Enlace que acortar',
  placeholder: 'Pega un enlace largo',
  shorten: 'Acortar',
  customize: 'Personalizar',
  logIn: 'Inicia sesión',
  toShorten: ' para acortar enlaces.',
  results: 'Nuevos enlaces cortos',
  makeQr: 'Crear un código QR',
  working: 'Acortando',
  waiting: 'Esperando una conexión',
  retrying: (duration) => `Se vuelve a intentar ${fromNow(duration)}`,
  ready: (url) => `URL corta lista: ${url}`,
  invalidToken: 'Token de usuario no válido',
  invalid: 'Introduce una URL válida',
  'too-long': 'La URL es demasiado larga',
  'no-scheme': 'Incluye https:// o http:// en la URL',
  taken: 'Esta terminación está ocupada.',
  unlisted: 'Este dominio ya no se ofrece. Elige otro.',
  blocked: 'Este enlace no se puede acortar.',
  full: shared.accountFull,
};
