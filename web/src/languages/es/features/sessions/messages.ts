import type * as english from '../../../../features/sessions/messages';

export const messages: typeof english.messages = {
  title: 'Sesiones',
  hint: 'Los navegadores en los que tienes una sesión abierta. No se guarda ninguna dirección IP.',
  list: 'Tus sesiones',
  loading: 'Cargando tus sesiones',
  loadFailed: 'No se han podido cargar tus sesiones.',
  current: 'Esta sesión',
  since: (time) => `Inicio: ${time}`,
  lastUsed: (time) => `Último uso aproximado: ${time}`,
  end: 'Cerrar sesión',
  endOf: (browser, time) => `Cerrar sesión en ${browser}, iniciada ${time}`,
  endOthers: 'Cerrar todas las demás sesiones',
  ended: 'La sesión se ha cerrado.',
  othersEnded: 'Se han cerrado todas las demás sesiones.',
  failed: 'Algo ha fallado. Vuelve a intentarlo.',
};
