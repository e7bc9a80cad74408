import type { Decision, Role } from '../../api/administration';
import { Item, ItemList } from '../../components/ItemList';
import { TextButton } from '../../components/TextButton';
import { formatInstant } from '../../lib/format';
import { decisions as texts, roles } from './messages';
import { useSection, type SectionName } from './sections';

/** Actions on accounts. Their subject is the id of an account. */
const ON_ACCOUNTS: ReadonlySet<string> = new Set([
  'suspend',
  'resume',
  'role',
  'end sessions',
  'reset link',
]);
/** Its subject is the id of the invitation, which is in no list once it is used. */
const INVITE = 'invite';

interface DecisionListProps {
  decisions: readonly Decision[];
  /** Whether a subject leads to the place where it can be found. */
  leads?: boolean;
}

/** Decisions, each in one line: what, when, by whom, and why. */
export function DecisionList({ decisions, leads = false }: DecisionListProps) {
  const { open } = useSection();
  return (
    <ItemList label={texts.list}>
      {decisions.map((decision) => {
        const target: SectionName = ON_ACCOUNTS.has(decision.action) ? 'accounts' : 'links';
        return (
          <Item
            key={decision.id}
            title={
              <>
                <strong>{texts.action(decision.action, decision.class)}</strong>{' '}
                {decision.subject !== '' &&
                  (leads && decision.action !== INVITE ? (
                    <TextButton onClick={() => open(target, decision.subject)}>
                      <bdi translate="no">{decision.subject}</bdi>
                    </TextButton>
                  ) : (
                    <bdi translate="no">{decision.subject}</bdi>
                  ))}
              </>
            }
            facts={[
              formatInstant(decision.at),
              decision.by === 'operator' ? texts.byOperator : texts.by(decision.by),
              ...remark(decision),
            ]}
          />
        );
      })}
    </ItemList>
  );
}

/** Returns the comment of a decision, or the role that it gave; nothing if it has neither. */
function remark({ action, comment }: Decision): string[] {
  if (comment === '') return [];
  if ((action === 'role' || action === INVITE) && comment in roles) return [roles[comment as Role]];
  return [texts.comment(comment)];
}
