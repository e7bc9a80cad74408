import { listDecisions } from '../../../api/administration';
import { useList, type SectionProps } from '../administrator';
import { DecisionList } from '../DecisionList';
import { decisions as texts } from '../messages';
import { PagedList } from '../PagedList';
import { SearchField } from '../SearchField';
import { useSection } from '../sections';

/** All decisions on links and accounts, newest first. */
export function DecisionsSection({ query: text }: SectionProps) {
  const { open } = useSection();
  const query = useList('listDecisions', [text], (account, cursor, options) =>
    listDecisions(account, text, cursor, options),
  );
  return (
    <>
      <SearchField
        label={texts.search}
        hint={texts.searchHint}
        submit={texts.find}
        value={text}
        onSearch={(searched) => open('decisions', searched)}
      />
      <PagedList query={query} none={text === '' ? texts.none : texts.noMatch}>
        {(items) => <DecisionList decisions={items} leads />}
      </PagedList>
    </>
  );
}
