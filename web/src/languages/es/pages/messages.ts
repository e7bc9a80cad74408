import type * as english from '../../../pages/messages';

export const home: typeof english.home = {
  title: 'Enlaces cortos y códigos QR',
  description:
    'Acorta un enlace largo a ocho caracteres, cuenta sus visitas y crea un código QR con tus colores.',
  noAccountNeeded: 'Gratis y sin cuenta.',
  heading: 'Acorta, comparte y sigue tus enlaces',
  lead: 'Pega un enlace largo y obtén uno corto, gratis y sin cuenta.',
  leadForAccounts: 'Pega un enlace largo y obtén uno corto.',
  reasons: 'Por qué Atajo',
  analytics: 'Estadísticas avanzadas',
  analyticsText: 'Mira cuántas personas abren cada enlace. Los bots se cuentan aparte.',
  customization: 'Personalización única',
  customizationText: 'Crea códigos QR con tus colores y con tu logotipo en el centro.',
  sampleCode: '/k7Qm2_xB',
  free: 'Gratis y sin complicaciones',
  freeText: 'Sin coste ni periodo de prueba.',
  optionalAccount: 'La cuenta es opcional y reúne tus enlaces.',
};

export const notFound: typeof english.notFound = {
  title: 'Página no encontrada',
  description: 'En esta dirección no hay ninguna página ni ningún enlace corto.',
  heading: 'PÁGINA NO ENCONTRADA',
  text: 'Puede que el enlace esté mal escrito o que ya no exista.',
  goHome: 'IR AL INICIO',
};
