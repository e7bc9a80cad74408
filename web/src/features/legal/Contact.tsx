import { contact } from '../../lib/config';
import { article } from './messages';

/** The operator's email address from the configuration. */
export function Contact() {
  const address = contact();
  return address === '' ? article.operator : <a href={`mailto:${address}`}>{address}</a>;
}
