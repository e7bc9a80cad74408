import type { ReactNode } from 'react';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { Spinner } from '../../components/Spinner';
import type { Owner } from '../../lib/owner';
import { LinkDetails } from './LinkDetails';
import { LinkHeader } from './LinkHeader';
import styles from './LinkView.module.css';
import { details, messages } from './messages';
import { useLink } from './useLink';

interface LinkViewProps {
  owner: Owner;
  code: string;
  /** Statistics below the details. */
  statistics: ReactNode;
  /** Wraps the page of the link, whose domain is unknown until it has loaded. */
  page: (children: ReactNode, domain: string | undefined) => ReactNode;
  /** Replaces a link that is not the owner's or does not exist. */
  otherwise: ReactNode;
}

/** A link as its owner sees it. */
export function LinkView({ owner, code, statistics, page, otherwise }: LinkViewProps) {
  const link = useLink(owner, code);
  if (link.state === 'no-exist' || link.state === 'not-logged') return otherwise;
  const domain = link.state === 'loaded' ? link.link.domain : undefined;
  return page(
    <>
      <LinkHeader code={code} domain={domain} />
      {link.state === 'loading' && (
        <div className={styles.loading}>
          <Spinner label={details.loading} />
        </div>
      )}
      {link.state === 'failed' && (
        <div className={styles.failed}>
          <p>{messages.loadFailed}</p>
          <Button busy={link.again} onClick={link.reload}>
            {actions.tryAgain}
          </Button>
        </div>
      )}
      {link.state === 'loaded' && (
        <>
          <LinkDetails owner={owner} link={link.link} history={link.history} />
          {statistics}
        </>
      )}
    </>,
    domain,
  );
}
