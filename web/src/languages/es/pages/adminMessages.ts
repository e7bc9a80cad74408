import type * as english from '../../../pages/adminMessages';

export const messages: typeof english.messages = {
  title: 'Administración',
  description: 'Denuncias, enlaces, cuentas y estado de este sitio, para quienes lo administran.',
  loading: 'Cargando la administración',
  loadFailed: 'La administración no se ha cargado.',
};
