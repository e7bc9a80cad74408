import type * as english from '../../../../features/settings/messages';

export const messages: typeof english.messages = {
  title: 'Ajustes',
  description:
    'Cambia tu contraseña, gestiona claves de acceso, códigos de recuperación, sesiones y claves de API, descarga tus enlaces o borra tu cuenta.',
  yourLinks: 'Tus enlaces',
};
