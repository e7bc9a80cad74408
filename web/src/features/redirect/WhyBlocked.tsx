import { contact } from '../../lib/config';
import { messages } from './messages';

/** Says who blocked a link, and whom to contact if there is an address. */
export function WhyBlocked() {
  const address = contact();
  return (
    <>
      {messages.blockedBy}
      {address && <> {messages.appeal(<a href={`mailto:${address}`}>{address}</a>)}</>}
    </>
  );
}
