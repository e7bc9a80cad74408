import type * as english from '../../../../features/shorten/endingMessages';

export const messages: typeof english.messages = {
  ending: 'Terminación personalizada',
  rule: 'De 4 a 32 letras, cifras, guiones o guiones bajos. Distingue mayúsculas de minúsculas.',
  reserved: 'Esta terminación está reservada.',
  length: 'Introduce de 4 a 32 caracteres.',
  letters: 'Usa solo las letras de la A a la Z, cifras, guiones y guiones bajos.',
  unknown: 'No se ha podido comprobar si esta terminación está libre.',
  available: (url) => <>{url} está libre.</>,
};
