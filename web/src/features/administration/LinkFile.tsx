import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { previewLink } from '../../api';
import { cache, KEPT_FOR } from '../../api/cache';
import { keys } from '../../api/keys';
import { showReports, type ReportFile } from '../../api/administration';
import { Item, ItemList } from '../../components/ItemList';
import { Loaded } from '../../components/LoadedList';
import { TextButton } from '../../components/TextButton';
import { shortAddress } from '../../lib/config';
import { formatInstant } from '../../lib/format';
import { nobody } from '../../lib/owner';
import admin from './Administration.module.css';
import { useAdministrator, useRead } from './administrator';
import { DecisionList } from './DecisionList';
import { Destination, FormerDestination, hostOf } from './Destination';
import styles from './LinkFile.module.css';
import { classes, file as texts } from './messages';
import { useSection } from './sections';

interface LinkFileProps {
  code: string;
  /** What a list knows about the link. */
  known?: { long_link: string; facts: readonly string[] };
  /** What can be done, between the destination and the rest. It stays while another link loads. */
  children?: ReactNode;
}

/** What is known about a link: where it leads, who reported it, and what was decided before. */
export function LinkFile({ code, known, children }: LinkFileProps) {
  const query = useRead('showReports', [code], (account, options) =>
    showReports(account, code, options),
  );
  const file = query.data;
  const url = file?.link.long_link ?? known?.long_link;
  return (
    <div className={styles.file}>
      <Heading code={code} file={file} facts={known?.facts ?? []} />
      {url !== undefined && <Destination url={url} />}
      {file && <KnownWarnings file={file} />}
      {children}
      <Loaded query={query} texts={texts}>
        {(loaded) => (
          <>
            <Statements file={loaded} />
            <History file={loaded} />
            <Earlier file={loaded} />
          </>
        )}
      </Loaded>
    </div>
  );
}

interface HeadingProps {
  code: string;
  file: ReportFile | undefined;
  facts: readonly string[];
}

function Heading({ code, file, facts }: HeadingProps) {
  const all = [...facts, ...(file ? linkFacts(file) : [])];
  return (
    <div>
      <h2 className={styles.code} translate="no">
        {shortAddress(code)}
      </h2>
      <p className={admin.facts}>
        {all.map((fact) => (
          <span key={fact}>{fact} </span>
        ))}
        <a href={`/${code}+`} target="_blank" rel="noopener noreferrer">
          {texts.preview}
        </a>
      </p>
    </div>
  );
}

function linkFacts({ link }: ReportFile): string[] {
  return [
    texts.states[link.state](link.reason),
    texts.createdAt(formatInstant(link.created_at)),
    ...(link.changed_at === null ? [] : [texts.changedAt(formatInstant(link.changed_at))]),
    texts.owners[link.owner],
  ];
}

/** The warnings about the destination, which the preview has as well. */
function KnownWarnings({ file }: { file: ReportFile }) {
  const { Warnings } = useAdministrator();
  const { code, long_link: url } = file.link;
  const { data } = useQuery(
    {
      queryKey: keys.preview(nobody, code),
      queryFn: ({ signal }) => previewLink(code, { signal }),
      gcTime: KEPT_FOR,
      // Without them, the destination is still shown.
      meta: { onFailure: () => undefined },
    },
    cache,
  );
  if (!data) return null;
  return <Warnings place={{ host: hostOf(url), long_link: url }} warnings={data.warnings} />;
}

function Statements({ file }: { file: ReportFile }) {
  if (file.reports.length === 0) return null;
  return (
    <div className={admin.stack}>
      <h3>{texts.reports}</h3>
      <ItemList label={texts.reports}>
        {file.reports.map((report, index) => (
          <Item
            key={index}
            title={
              <>
                <strong>{classes[report.reason]}</strong>
                {report.details !== '' && (
                  <>
                    {': '}
                    <bdi>{report.details}</bdi>
                  </>
                )}
              </>
            }
            facts={[
              formatInstant(report.created_at),
              ...(report.contact === null ? [] : [report.contact]),
            ]}
          />
        ))}
      </ItemList>
    </div>
  );
}

function History({ file }: { file: ReportFile }) {
  if (file.history.length === 0) return null;
  return (
    <div className={admin.stack}>
      <h3>{texts.history}</h3>
      <ItemList label={texts.history}>
        {file.history.map((former) => (
          <Item
            key={former.until}
            title={<FormerDestination url={former.long_link} />}
            facts={[texts.until(formatInstant(former.until))]}
          />
        ))}
      </ItemList>
    </div>
  );
}

function Earlier({ file }: { file: ReportFile }) {
  const { open } = useSection();
  if (file.decisions.length === 0) return null;
  return (
    <div className={admin.stack}>
      <h3>{texts.decisions}</h3>
      <DecisionList decisions={file.decisions} />
      <div>
        <TextButton onClick={() => open('decisions', file.link.code)}>
          {texts.allDecisions}
        </TextButton>
      </div>
    </div>
  );
}
