import { Fragment, useEffect, useState, type ReactNode } from 'react';
import type { FormerAddress, Link, LinkChanges } from '../../api';
import { knownScanCode } from '../../api/scanCodes';
import { actions } from '../../components/messages';
import { TextButton } from '../../components/TextButton';
import { announce } from '../../lib/announce';
import { contact, hasFurtherDomains, shortAddress } from '../../lib/config';
import { formatInstant, formatMoment } from '../../lib/format';
import type { Owner } from '../../lib/owner';
import { usePart } from '../../lib/usePart';
import { codePoints } from '../../lib/text';
import { remove, restore } from './changes';
import { DomainEditor } from './DomainEditor';
import { ExpiryEditor } from './ExpiryEditor';
import styles from './LinkDetails.module.css';
import { details, messages, problems } from './messages';
import { current } from './moves';
import { Part } from './Part';
import { PublicSwitch } from './PublicSwitch';
import { ScanCode } from './ScanCode';
import { areTags, readTags } from './tags';
import { TextEditor } from './TextEditor';

const MAX_TITLE = 100;
const MAX_TIMER = 2 ** 31 - 1;

/** Loaded on demand: most links have no scan code and are removed without confirmation. */
const loadDialog = () => import('./RemoveLinkDialog');

/** The fields of the list. `PublicSwitch` is below it. */
type ListedField = Exclude<keyof LinkChanges, 'public_statistics'>;

interface LinkDetailsProps {
  owner: Owner;
  link: Link;
  history: FormerAddress[] | undefined;
}

/** The fields of a link, which its owner can change. */
export function LinkDetails({ owner, link: known, history }: LinkDetailsProps) {
  const link = useCurrent(known);
  const { code, domain, title, tags, long_link, ended_url, expires_at } = link;
  const isRemoved = link.state === 'removed';
  const edits = { owner, link };
  const scanCode = knownScanCode(owner, link);
  const [isConfirming, setConfirming] = useState(false);
  const dialog = usePart(loadDialog, scanCode !== undefined);

  const removeIt = () => {
    setConfirming(false);
    announce(messages.removed(shortAddress(code, domain)));
    void remove(owner, [link]);
  };
  const restoreIt = () => {
    announce(messages.restored(shortAddress(code, domain)));
    void restore(owner, [link]);
  };

  const parts: Record<ListedField, ReactNode> = {
    url: (
      <Part
        name={details.destination}
        action={details.change}
        of={details.changes.destination}
        fixed={isRemoved}
        editor={(onDone) => (
          <TextEditor
            {...edits}
            label={details.destination}
            initial={long_link}
            isUrl
            read={(url) => (url === '' ? problems.INVALID_URL : { url })}
            onDone={onDone}
          />
        )}
      >
        <Address url={long_link} />
      </Part>
    ),
    title: (
      <Part
        name={details.title}
        action={title === '' ? details.addTitle : details.change}
        of={title === '' ? '' : details.changes.title}
        fixed={isRemoved}
        editor={(onDone) => (
          <TextEditor
            {...edits}
            label={details.title}
            initial={title}
            read={(text) =>
              codePoints(text) > MAX_TITLE ? problems.INVALID_TITLE : { title: text }
            }
            onDone={onDone}
          />
        )}
      >
        {title !== '' && <bdi>{title}</bdi>}
      </Part>
    ),
    tags: (
      <Part
        name={details.tags}
        action={tags.length === 0 ? details.addTags : details.change}
        of={tags.length === 0 ? '' : details.changes.tags}
        fixed={isRemoved}
        editor={(onDone) => (
          <TextEditor
            {...edits}
            label={details.tagsField}
            initial={tags.join(', ')}
            read={(text) => {
              const read = readTags(text);
              return areTags(read) ? { tags: read } : problems.INVALID_TAGS;
            }}
            onDone={onDone}
          />
        )}
      >
        {tags.length > 0 && <bdi>{tags.join(', ')}</bdi>}
      </Part>
    ),
    expires_at: (
      <Part
        name={link.state === 'expired' ? details.expiredSince : details.expiry}
        action={expires_at === null ? details.setExpiry : details.change}
        of={expires_at === null ? '' : details.changes.expiry}
        fixed={isRemoved}
        editor={(onDone) => <ExpiryEditor {...edits} onDone={onDone} />}
      >
        {expires_at === null ? (
          details.never
        ) : (
          <time dateTime={expires_at}>{formatInstant(expires_at)}</time>
        )}
      </Part>
    ),
    ended_url: (expires_at !== null || ended_url !== null) && (
      <Part
        name={details.afterExpiry}
        action={details.change}
        of={details.changes.afterExpiry}
        fixed={isRemoved}
        editor={(onDone) => (
          <TextEditor
            {...edits}
            label={details.afterExpiryField}
            initial={ended_url ?? ''}
            isUrl
            read={(url) => ({ ended_url: url === '' ? null : url })}
            onDone={onDone}
          />
        )}
      >
        {ended_url === null ? details.noDestination : <Address url={ended_url} />}
      </Part>
    ),
    domain: owner.kind === 'account' && hasFurtherDomains() && (
      <Part
        name={details.domain}
        action={details.change}
        of={details.changes.domain}
        fixed={isRemoved}
        editor={(onDone) => <DomainEditor {...edits} onDone={onDone} />}
      >
        {domain}
      </Part>
    ),
  };

  return (
    <>
      <StateLine link={link}>
        {isRemoved && (
          <TextButton variant="primary" onClick={restoreIt}>
            {messages.restore}
          </TextButton>
        )}
      </StateLine>
      <dl className={styles.parts}>
        {Object.entries(parts).map(([field, part]) => (
          <Fragment key={field}>{part}</Fragment>
        ))}
        {scanCode !== undefined && <ScanCode scanCode={scanCode} domain={domain} />}
        <div className={styles.fact}>
          <dt>{details.created}</dt>
          <dd>
            <time dateTime={link.created_at}>{formatMoment(link.created_at)}</time>
          </dd>
        </div>
        <div className={styles.fact}>
          <dt>{details.views}</dt>
          <dd>
            {link.views === null || link.bots === null
              ? messages.viewsUnknown
              : details.viewsBy(link.views, link.bots)}
          </dd>
        </div>
      </dl>
      {!isRemoved && (
        <p className={styles.remove}>
          <TextButton
            variant="primary"
            onClick={() => (scanCode === undefined ? removeIt() : setConfirming(true))}
          >
            {actions.remove}
          </TextButton>
        </p>
      )}
      {isConfirming && dialog && (
        <dialog.RemoveLinkDialog
          code={code}
          domain={domain}
          onClose={() => setConfirming(false)}
          onRemove={removeIt}
        />
      )}
      {history !== undefined && history.length > 0 && <History history={history} />}
      {!isRemoved && <PublicSwitch {...edits} />}
    </>
  );
}

/** Earlier destinations, for owners who have printed the link. */
function History({ history }: { history: FormerAddress[] }) {
  return (
    <section className={styles.history}>
      <h2>{details.history}</h2>
      <ol>
        {history.map(({ long_link, until }) => (
          <li key={`${until} ${long_link}`}>
            <Address url={long_link} />{' '}
            <span className={styles.quiet}>
              {details.until(<time dateTime={until}>{formatInstant(until)}</time>)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Address({ url }: { url: string }) {
  return (
    <a className={styles.address} href={url} target="_blank" rel="noopener noreferrer" dir="auto">
      {url}
    </a>
  );
}

/** Describes the state of a link that is not active. */
function StateLine({ link, children }: { link: Link; children: ReactNode }) {
  const text = {
    active: null,
    expired: details.expired,
    removed: details.removed,
    blocked: details.blocked(link.reason ?? 'other'),
  }[link.state];
  if (text === null) return null;
  const operator = link.state === 'blocked' ? contact() : '';
  return (
    <p className={styles.state}>
      {text} {operator !== '' && <a href={`mailto:${operator}`}>{operator}</a>}
      {children}
    </p>
  );
}

/** Returns a link in its current state. Renders again when the link expires. */
function useCurrent(link: Link): Link {
  const [, setEnded] = useState<string | null>(null);
  const { expires_at } = link;
  useEffect(() => {
    const left = expires_at === null ? Infinity : Date.parse(expires_at) - Date.now();
    if (left <= 0 || left > MAX_TIMER) return undefined;
    const timer = setTimeout(() => setEnded(expires_at), left);
    return () => clearTimeout(timer);
  }, [expires_at]);
  return current(link);
}
