import {
  useEffect,
  useId,
  useRef,
  useState,
  type CSSProperties,
  type MouseEvent,
  type SubmitEvent,
} from 'react';
import { Link, useLocation } from 'react-router-dom';
import { Button } from '../../components/Button';
import { FieldError } from '../../components/FieldError';
import { Offered } from '../../components/Offered';
import { isFirstPage } from '../../components/Page';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { guestLinks } from '../../lib/guest';
import { useOwner } from '../../lib/owner';
import { paths } from '../../lib/paths';
import { usePart } from '../../lib/usePart';
import type { AccountOptionsHandle } from './AccountOptions';
import type { CampaignHandle } from './CampaignTags';
import { messages } from './messages';
import { PendingPlate } from './PendingPlate';
import { useResults } from './ResultsProvider';
import styles from './Shortener.module.css';
import { SignPlate } from './SignPlate';
import { useShortening } from './useShortening';

interface ShortenerProps {
  /** Whether the text must contain a scheme or the product's own host, as only on the home page. */
  wantsScheme?: boolean;
  /** Whether to focus the field when the document opens on this page, on a wide screen. */
  focused?: boolean;
}

/** Maximum number of a guest's earlier links shown at first. */
const EARLIER = 5;

/** Nothing is chained to the import(): the build would make it part of the import(). */
const loadAccountOptions = () => import('./AccountOptions');
const loadCampaignTags = () => import('./CampaignTags');
const loadGuestLinks = () => import('./GuestLinks');

const ROOMY = '(min-width: 1100px) and (hover: hover)';

export function Shortener({ wantsScheme = false, focused = false }: ShortenerProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const { state } = useLocation() as { state: { link?: unknown } | null };
  const [first] = useState(isFirstPage);
  const { results, settle } = useResults();
  const owner = useOwner();
  const isAccount = owner.kind === 'account';
  const options = useRef<AccountOptionsHandle>(null);
  const campaign = useRef<CampaignHandle>(null);
  const [isCustom, setCustom] = useState(false);
  const optionsPart = usePart(loadAccountOptions, isCustom && isAccount);
  const campaignPart = usePart(loadCampaignTags, isCustom);
  const guestPart = usePart(loadGuestLinks, owner.kind === 'guest');
  // Reserve space for these links before they load, so that the layout does not shift.
  const [earlier] = useState(() => Math.min(guestLinks() - results.length, EARLIER));

  /** Puts the link back into the field, unless the field contains another one. */
  const handBack = (url: string) => {
    if (field.current?.value !== '') return;
    field.current.value = url;
    field.current.dispatchEvent(new Event('input'));
  };

  const { working, wait, error, foreign, submit, giveUp } = useShortening(wantsScheme, {
    onMade: () => {
      options.current?.clear();
      campaign.current?.clear();
    },
    onRefused: (refused, url) => {
      handBack(url);
      options.current?.refuse(refused);
      return options.current !== null;
    },
  });

  // A removal can be undone only while its line is shown.
  useEffect(() => settle, [settle]);

  useEffect(() => {
    if (focused && first && matchMedia(ROOMY).matches)
      field.current?.focus({ preventScroll: true });
  }, [focused, first]);

  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const input = field.current;
    if (!input) return;
    const chosen = options.current ? options.current.take() : { ending: '' };
    if (chosen === null) return;
    const text = campaign.current ? campaign.current.addTo(input.value) : input.value;
    input.value = '';
    submit(text, chosen);
  };

  const onGiveUp = () => {
    handBack(working ?? '');
    field.current?.focus();
    giveUp();
  };

  /** Ignores the second click of a double click, which finds the field cleared. */
  const onClick = (event: MouseEvent) => {
    if (event.detail > 1 && field.current?.value === '') event.preventDefault();
  };

  return (
    <div className={styles.shortener}>
      <Offered where="guest-links" override={isAccount || undefined}>
        <form className={styles.form} onSubmit={onSubmit} noValidate autoComplete="off">
          <VisuallyHidden>
            <label htmlFor={id}>{messages.field}</label>
          </VisuallyHidden>
          <input
            ref={field}
            id={id}
            className={styles.field}
            type="url"
            inputMode="url"
            autoComplete="off"
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            enterKeyHint="go"
            dir="auto"
            placeholder={messages.placeholder}
            defaultValue={typeof state?.link === 'string' ? state.link : foreign}
            aria-invalid={error !== undefined || undefined}
            aria-describedby={error ? `${id}-error` : undefined}
          />
          <div className={styles.error}>
            <FieldError
              id={`${id}-error`}
              text={error?.text}
              attempt={error?.attempt}
              toasted={error?.toasted}
            />
          </div>
          <Button type="submit" variant="primary" large onClick={onClick}>
            {messages.shorten}
          </Button>
          <details className={styles.options} onToggle={() => setCustom(true)}>
            <summary>{messages.customize}</summary>
            <div>
              {optionsPart && <optionsPart.AccountOptions ref={options} />}
              {campaignPart && <campaignPart.CampaignTags ref={campaign} link={field} />}
            </div>
          </details>
        </form>
      </Offered>
      <Offered where="no-guest-links" override={isAccount ? false : undefined}>
        <p>
          <Link to={paths.login}>{messages.logIn}</Link>
          {messages.toShorten}
        </p>
      </Offered>
      {working !== null && <PendingPlate url={working} wait={wait} onGiveUp={onGiveUp} />}
      {results.length > 0 && (
        <ul className={styles.results} aria-label={messages.results}>
          {results.map((result, index) => (
            <li key={result.code}>
              <SignPlate
                result={result}
                small={index > 0 || working !== null}
                actions={
                  guestPart && result.owner.kind === 'guest' ? guestPart.PlateActions : undefined
                }
              />
            </li>
          ))}
        </ul>
      )}
      {owner.kind === 'guest' && (
        <div
          className={earlier > 0 ? styles.earlier : undefined}
          style={{ '--earlier': earlier } as CSSProperties}
        >
          {guestPart && <guestPart.GuestLinks owner={owner} max={EARLIER} />}
        </div>
      )}
    </div>
  );
}
