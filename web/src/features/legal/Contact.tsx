import { contact } from '../../lib/config';

/** The operator's address from the configuration. */
export function Contact() {
  const address = contact();
  if (address === '') return <>the operator of this site</>;
  return <a href={`mailto:${address}`}>{address}</a>;
}
