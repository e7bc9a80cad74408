import type * as english from '../../../../features/shorten/campaignMessages';

export const messages: typeof english.messages = {
  title: 'Etiquetas de campaña',
  hint: 'Se añaden al enlace para que tu analítica web sepa de dónde llegan las visitas. Las etiquetas que el enlace ya tiene se sustituyen.',
  tags: {
    source: 'Fuente',
    medium: 'Medio',
    campaign: 'Campaña',
    term: 'Término',
    content: 'Contenido',
  },
  examples: {
    source: 'boletin',
    medium: 'correo',
    campaign: 'primavera-2027',
    term: 'botas de montaña',
    content: 'cabecera',
  },
  result: 'Destino con las etiquetas:',
};
