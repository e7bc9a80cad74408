import { useEffect, useState, type ReactNode } from 'react';
import type { FormerAddress, Link } from '../../api';
import { knownScanCode } from '../../api/scanCodes';
import { TextButton } from '../../components/TextButton';
import { announce } from '../../lib/announce';
import { contact, shortAddress } from '../../lib/config';
import { formatInstant, formatMoment, formatNumber, plural } from '../../lib/format';
import type { Owner } from '../../lib/owner';
import { usePart } from '../../lib/usePart';
import { codePoints } from '../../lib/text';
import { remove, restore } from './changes';
import { ExpiryEditor } from './ExpiryEditor';
import styles from './LinkDetails.module.css';
import { changeMessages, viewsUnknown } from './messages';
import { current } from './moves';
import { Part } from './Part';
import { PublicSwitch } from './PublicSwitch';
import { ScanCode } from './ScanCode';
import { areTags, readTags } from './tags';
import { TextEditor } from './TextEditor';

const LONGEST_TITLE = 100;
const LONGEST_TIMER = 2 ** 31 - 1;

/** Most links have no scan code, and are removed without a question. */
const loadDialog = () => import('./RemoveLinkDialog');

interface LinkDetailsProps {
  owner: Owner;
  link: Link;
  history: FormerAddress[] | undefined;
}

/** What belongs to a link, and can be changed by its owner. */
export function LinkDetails({ owner, link: known, history }: LinkDetailsProps) {
  const link = useCurrent(known);
  const { code, title, tags, long_link, ended_url, expires_at } = link;
  const isRemoved = link.state === 'removed';
  const edits = { owner, link };
  const scanCode = knownScanCode(owner, link);
  const [asked, setAsked] = useState(false);
  const dialog = usePart(loadDialog, scanCode !== undefined);

  const removeIt = () => {
    setAsked(false);
    announce(`${shortAddress(code)} was removed`);
    void remove(owner, [link]);
  };
  const restoreIt = () => {
    announce(`${shortAddress(code)} was restored`);
    void restore(owner, [link]);
  };

  return (
    <>
      <StateLine link={link}>
        {isRemoved && (
          <TextButton look="sign" onClick={restoreIt}>
            Restore
          </TextButton>
        )}
      </StateLine>
      <dl className={styles.parts}>
        <Part
          name="Leads to"
          action="Change"
          of="where it leads"
          fixed={isRemoved}
          editor={(onDone) => (
            <TextEditor
              {...edits}
              label="Where it leads"
              initial={long_link}
              isUrl
              read={(url) => (url === '' ? (changeMessages.INVALID_URL ?? '') : { url })}
              onDone={onDone}
            />
          )}
        >
          <Address url={long_link} />
        </Part>
        <Part
          name="Title"
          action={title === '' ? 'Give it a title' : 'Change'}
          of={title === '' ? '' : 'the title'}
          fixed={isRemoved}
          editor={(onDone) => (
            <TextEditor
              {...edits}
              label="Title"
              initial={title}
              read={(text) =>
                codePoints(text) > LONGEST_TITLE
                  ? (changeMessages.INVALID_TITLE ?? '')
                  : { title: text }
              }
              onDone={onDone}
            />
          )}
        >
          {title !== '' && <bdi>{title}</bdi>}
        </Part>
        <Part
          name="Tags"
          action={tags.length === 0 ? 'Give it tags' : 'Change'}
          of={tags.length === 0 ? '' : 'the tags'}
          fixed={isRemoved}
          editor={(onDone) => (
            <TextEditor
              {...edits}
              label="Tags, with commas between them"
              initial={tags.join(', ')}
              read={(text) => {
                const read = readTags(text);
                return areTags(read) ? { tags: read } : (changeMessages.INVALID_TAGS ?? '');
              }}
              onDone={onDone}
            />
          )}
        >
          {tags.length > 0 && <bdi>{tags.join(', ')}</bdi>}
        </Part>
        <Part
          name={link.state === 'expired' ? 'Ended' : 'Ends'}
          action={expires_at === null ? 'Give it an end' : 'Change'}
          of={expires_at === null ? '' : 'the end'}
          fixed={isRemoved}
          editor={(onDone) => <ExpiryEditor {...edits} onDone={onDone} />}
        >
          {expires_at === null ? (
            'never'
          ) : (
            <time dateTime={expires_at}>{formatInstant(expires_at)}</time>
          )}
        </Part>
        {(expires_at !== null || ended_url !== null) && (
          <Part
            name="After its end"
            action="Change"
            of="where it leads after its end"
            fixed={isRemoved}
            editor={(onDone) => (
              <TextEditor
                {...edits}
                label="Where it leads after its end; empty for nowhere"
                initial={ended_url ?? ''}
                isUrl
                read={(url) => ({ ended_url: url === '' ? null : url })}
                onDone={onDone}
              />
            )}
          >
            {ended_url === null ? 'says that it has ended' : <Address url={ended_url} />}
          </Part>
        )}
        {scanCode !== undefined && <ScanCode scanCode={scanCode} />}
        <div className={styles.fact}>
          <dt>Made</dt>
          <dd>
            <time dateTime={link.created_at}>{formatMoment(link.created_at)}</time>
          </dd>
        </div>
        <div className={styles.fact}>
          <dt>Views</dt>
          <dd>
            {link.views === null || link.bots === null
              ? viewsUnknown
              : `${formatNumber(link.views)} by ${plural(link.views, 'a person', 'people')}, ` +
                `${formatNumber(link.bots)} by bots`}
          </dd>
        </div>
      </dl>
      {!isRemoved && (
        <p className={styles.remove}>
          <TextButton
            look="sign"
            onClick={() => (scanCode === undefined ? removeIt() : setAsked(true))}
          >
            Remove
          </TextButton>
        </p>
      )}
      {asked && dialog && (
        <dialog.RemoveLinkDialog code={code} onClose={() => setAsked(false)} onRemove={removeIt} />
      )}
      {history !== undefined && history.length > 0 && <History history={history} />}
      {!isRemoved && <PublicSwitch {...edits} />}
    </>
  );
}

/** Where it led before; who printed it wants to know. */
function History({ history }: { history: FormerAddress[] }) {
  return (
    <section className={styles.history}>
      <h2>Where it led before</h2>
      <ol>
        {history.map(({ long_link, until }) => (
          <li key={`${until} ${long_link}`}>
            <Address url={long_link} />{' '}
            <span className={styles.quiet}>
              until <time dateTime={until}>{formatInstant(until)}</time>
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

/** What it is, in words, unless it simply leads where it should. */
function StateLine({ link, children }: { link: Link; children: ReactNode }) {
  const words = {
    active: null,
    expired: 'This link has ended.',
    removed: 'You removed this link. It can be restored for 30 days.',
    blocked: `This link was blocked: ${link.reason ?? 'other'}.`,
  }[link.state];
  if (words === null) return null;
  const operator = link.state === 'blocked' ? contact() : '';
  return (
    <p className={styles.state}>
      {words} {operator !== '' && <a href={`mailto:${operator}`}>{operator}</a>}
      {children}
    </p>
  );
}

/** The link as it is at every moment: its end comes while one looks at it. */
function useCurrent(link: Link): Link {
  const [, setEnded] = useState<string | null>(null);
  const { expires_at } = link;
  useEffect(() => {
    const left = expires_at === null ? Infinity : Date.parse(expires_at) - Date.now();
    if (left <= 0 || left > LONGEST_TIMER) return undefined;
    const timer = setTimeout(() => setEnded(expires_at), left);
    return () => clearTimeout(timer);
  }, [expires_at]);
  return current(link);
}
