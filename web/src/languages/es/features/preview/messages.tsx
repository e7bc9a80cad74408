import type * as english from '../../../../features/preview/messages';

export const messages: typeof english.messages = {
  title: (url) => `Vista previa de ${url}`,
  description: 'Mira adónde lleva un enlace corto antes de abrirlo.',
  headings: {
    active: 'Vista previa del enlace',
    expired: 'Vista previa de un enlace caducado',
    removed: 'Vista previa de un enlace eliminado',
    blocked: 'Vista previa de un enlace bloqueado',
  },
  loading: 'Cargando la vista previa',
  loadFailed: 'La vista previa no se ha cargado. Vuelve a intentarlo.',
  displayedAs: (host) => <>Se muestra como {host}</>,
  created: (url, date) => (
    <>
      {url} se creó el {date}.
    </>
  ),
  changed: (date) => `Su destino se cambió el ${date}.`,
  unchanged: 'Su destino no se ha cambiado.',
  ownerTitle: (title) => <>Título: «{title}»</>,
  goThere: 'Ir allí',
  report: 'DENUNCIAR',

  warnings: 'Advertencias',
  mixedScripts: 'El nombre del host mezcla letras de varios alfabetos.',
  lookAlike: 'El nombre del host se parece al de un sitio conocido, pero es otro sitio.',
  lookAlikeOf: (host) => (
    <>El nombre del host solo se parece a {host}: algunas letras son de otro alfabeto.</>
  ),
  punycode: (host) => (
    <>
      El nombre del host tiene letras distintas de la a a la z. Los navegadores pueden mostrarlo
      como {host}.
    </>
  ),
  ipAddress: 'El host es una dirección IP. Casi todos los sitios usan un nombre.',
  userInfo: (host) => <>El texto anterior a la @ no es el host. El enlace lleva a {host}.</>,
  port: (port) => `La URL tiene un puerto poco habitual${port && `: ${port}`}.`,

  reportTitle: 'Denunciar este enlace',
  reason: 'Motivo',
  reasons: {
    phishing: 'Suplantación de identidad',
    malware: 'Software malicioso',
    spam: 'Correo no deseado',
    illegal: 'Contenido ilegal',
    other: 'Otro',
  },
  details: 'Detalles (opcional)',
  contact: 'Tu correo electrónico, por si hay preguntas (opcional)',
  send: 'Enviar la denuncia',
  noReason: 'Elige un motivo.',
  longDetails: 'Introduce 1.000 caracteres como máximo.',
  badContact: 'Introduce un correo electrónico válido',
  sent: 'Gracias. Tu denuncia se ha enviado al responsable de este sitio.',
  gone: 'Este enlace ya no existe.',
  failed: 'Tu denuncia no se ha enviado. Vuelve a intentarlo.',
  tooMany: (when) =>
    `Se han enviado demasiadas denuncias desde tu red. Vuelve a intentarlo ${when}.`,
  outdated: 'Hay una versión nueva de esta página. Recárgala.',
};
