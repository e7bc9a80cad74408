/** Texts of the offer to add a browser's links to an account. */
import { counted } from '../../lib/counted';
import { plural } from '../../lib/format';

const links = (count: number) => counted(count, 'link', 'links');

export const messages = {
  label: 'Links created in this browser',
  offer: (count: number) =>
    `${links(count)} created in this browser ${plural(count, 'is', 'are')} not in your account yet.`,
  accept: 'Add them to my account',
  decline: 'No, thanks',
  busy: 'Adding the links',
  done: (count: number) => `${links(count)} ${plural(count, 'was', 'were')} added to your account.`,
  show: 'Show links',
  failed: 'The links were not added to your account. Please try again.',
};
