import { useState, type SubmitEvent } from 'react';
import {
  createInvitation,
  listInvitations,
  revokeInvitation,
  type Invitation,
  type Role,
} from '../../../api/administration';
import { cache } from '../../../api/cache';
import { keys } from '../../../api/keys';
import { Button } from '../../../components/Button';
import { Field } from '../../../components/Field';
import { Item } from '../../../components/ItemList';
import { LoadedList } from '../../../components/LoadedList';
import { Select } from '../../../components/Select';
import { formatInstant } from '../../../lib/format';
import styles from '../Administration.module.css';
import { useAdministrator, useRead } from '../administrator';
import { invitations as texts, roles } from '../messages';
import { SecretUrl } from '../SecretUrl';
import { useAction } from '../useAction';
import own from './AccountsSection.module.css';

const roleOptions = (['member', 'administrator'] as const).map((value) => ({
  value,
  text: roles[value],
}));

/** Creates invitations, and lists and revokes those that are open. They load when it is opened. */
export function Invitations() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details className={own.invitations} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className={own.summary}>
        <strong>{texts.title}</strong>
      </summary>
      {isOpen && <InvitationForm />}
    </details>
  );
}

function InvitationForm() {
  const { account } = useAdministrator();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [url, setUrl] = useState('');
  const { busy, said, act } = useAction();
  const query = useRead('listInvitations', [], listInvitations);
  const reload = () =>
    cache.invalidateQueries({ queryKey: keys.administration(account, 'listInvitations') });

  const create = async () => {
    setUrl(await createInvitation(account, email.trim() || null, role));
    setEmail('');
    await reload();
    return texts.created;
  };
  const revoke = async (invitation: Invitation) => {
    await revokeInvitation(account, invitation.id);
    await reload();
    return texts.revoked(invitation.email);
  };
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    void act('create', create);
  };

  return (
    <div className={own.form}>
      <p>{texts.hint}</p>
      <form className={styles.bar} onSubmit={onSubmit} noValidate autoComplete="off">
        <Field
          label={texts.email}
          type="email"
          name="email"
          autoComplete="off"
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <Select label={texts.role} options={roleOptions} value={role} onChange={setRole} />
        <Button type="submit" variant="primary" busy={busy === 'create'}>
          {texts.create}
        </Button>
      </form>
      <p className={styles.said}>{said}</p>
      {url !== '' && <SecretUrl url={url} text={texts.once} onDone={() => setUrl('')} />}
      <LoadedList query={query} texts={texts}>
        {(invitation) => (
          <Item
            key={invitation.id}
            title={
              <strong>
                {invitation.email === null ? texts.anyone : <bdi>{invitation.email}</bdi>}
              </strong>
            }
            facts={[
              roles[invitation.role],
              texts.createdAt(formatInstant(invitation.created_at)),
              texts.expires(formatInstant(invitation.expires_at)),
            ]}
            action={
              <Button
                busy={busy === invitation.id}
                aria-label={texts.revokeOf(invitation.email)}
                onClick={() => void act(invitation.id, () => revoke(invitation))}
              >
                {texts.revoke}
              </Button>
            }
          />
        )}
      </LoadedList>
    </div>
  );
}
