import type * as english from '../../../components/lateMessages';
import { formatNumber } from '../../../lib/format';

export const messages: typeof english.messages = {
  show: 'Mostrar',
  hide: 'Ocultar',
  showPassword: 'Mostrar la contraseña',
  hidePassword: 'Ocultar la contraseña',
  close: 'Cerrar',
  noPassword: (provider) =>
    `Tu cuenta no tiene contraseña. El inicio de sesión con ${provider} confirma esto durante 15 minutos.`,
  confirm: (provider) => `Confirmar otra vez con ${provider}`,
  domain: 'Dominio',
  unknownBrowser: 'Navegador desconocido',
  anUnknownBrowser: 'un navegador desconocido',
  browserOn: (browser, system) => `${browser} en ${system}`,
  createdBy: (browser, time) => `Creada en ${browser} (sesión del ${time})`,
  notifications: 'Notificaciones Alt+T',
  removeQuestion: (what) => <>¿Eliminar {what}?</>,
  printedCodes: (count, printed) =>
    `Los códigos impresos de ${printedLinks(count, printed)} dejarán de funcionar.`,
};

function printedLinks(count: number, printed: number): string {
  if (count === 1) return 'este enlace';
  return printed === count ? 'estos enlaces' : `${formatNumber(printed)} de estos enlaces`;
}
