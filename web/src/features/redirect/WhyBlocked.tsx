import { contact } from '../../lib/config';

/** Who blocked a link, and whom to ask, where there is somebody. */
export function WhyBlocked() {
  const address = contact();
  return (
    <>
      The operator of this site did so, and it leads nowhere now.
      {address && (
        <>
          {' '}
          If you think that is wrong, write to <a href={`mailto:${address}`}>{address}</a>.
        </>
      )}
    </>
  );
}
