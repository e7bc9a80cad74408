import type { BlockReason } from '../../api';

/** Why a link was blocked, within a sentence. English uses the names of the API. */
export const blockReasons: Record<BlockReason, string> = {
  phishing: 'suplantación de identidad',
  malware: 'software malicioso',
  spam: 'correo no deseado',
  illegal: 'contenido ilegal',
  other: 'otro motivo',
};
