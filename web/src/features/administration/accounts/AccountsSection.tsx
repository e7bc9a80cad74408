import { useState } from 'react';
import { listAccounts, type ListedAccount } from '../../../api/administration';
import { cache } from '../../../api/cache';
import { keys } from '../../../api/keys';
import { formatInstant } from '../../../lib/format';
import admin from '../Administration.module.css';
import { useAdministrator, useList, type ListData, type SectionProps } from '../administrator';
import { accounts as texts, roles } from '../messages';
import { PagedList } from '../PagedList';
import { SearchField } from '../SearchField';
import { useSection } from '../sections';
import { AccountActions } from './AccountActions';
import styles from './AccountsSection.module.css';
import { Invitations } from './Invitations';

/** Finds accounts, and shows what can be done to each. */
export function AccountsSection({ query: text }: SectionProps) {
  const { account: administrator } = useAdministrator();
  const { open } = useSection();
  const query = useList('listAccounts', [text], (account, cursor, options) =>
    listAccounts(account, text, cursor, options),
  );

  const replace = (changed: ListedAccount) =>
    cache.setQueryData<ListData<ListedAccount>>(
      keys.administration(administrator, 'listAccounts', text),
      (data) =>
        data && {
          ...data,
          pages: data.pages.map((page) => ({
            ...page,
            items: page.items.map((item) => (item.id === changed.id ? changed : item)),
          })),
        },
    );

  return (
    <>
      <SearchField
        label={texts.search}
        hint={texts.searchHint}
        submit={texts.find}
        value={text}
        onSearch={(searched) => open('accounts', searched)}
      />
      <Invitations />
      <PagedList query={query} none={text === '' ? texts.none : texts.noMatch}>
        {(items) => (
          <ul className={styles.list} aria-label={texts.list}>
            {items.map((item) => (
              <AccountRow key={item.id} account={item} onChanged={replace} />
            ))}
          </ul>
        )}
      </PagedList>
    </>
  );
}

interface AccountRowProps {
  account: ListedAccount;
  onChanged: (account: ListedAccount) => void;
}

function AccountRow({ account, onChanged }: AccountRowProps) {
  const [isOpen, setOpen] = useState(false);
  const facts = [
    account.username,
    roles[account.role],
    account.links === null ? texts.linksUnknown : texts.links(account.links),
    texts.createdAt(formatInstant(account.created_at)),
    account.last_seen_at === null
      ? texts.neverUsed
      : texts.lastUsed(formatInstant(account.last_seen_at)),
  ];
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={styles.summary}>
          <strong>
            <bdi>{account.email}</bdi>
          </strong>{' '}
          {account.suspended && <strong className={styles.suspended}>{texts.isSuspended} </strong>}
          <span className={admin.facts}>
            {facts.map((fact, index) => (
              <span key={index}>{fact} </span>
            ))}
          </span>
        </summary>
        {isOpen && <AccountActions account={account} onChanged={onChanged} />}
      </details>
    </li>
  );
}
