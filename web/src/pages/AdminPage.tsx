import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { failureCode } from '../api';
import { listReports } from '../api/administration';
import { cache } from '../api/cache';
import { keys } from '../api/keys';
import { Loaded } from '../components/LoadedList';
import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { Spinner } from '../components/Spinner';
import { hasAdminPages } from '../lib/config';
import { useOwner, type Account } from '../lib/owner';
import { useSessionEnded } from '../lib/session';
import { usePart } from '../lib/usePart';
import { messages } from './adminMessages';
import { NotFoundPage } from './NotFoundPage';

/** Nothing is chained to the import(): the build would make it part of the import(). */
const loadTool = () => import('./AdminTool');

/**
 * The page for administrators. Everybody else gets the page of a path that does not exist, and loads
 * nothing of the tool: the server decides who is an administrator.
 */
export default function AdminPage() {
  const owner = useOwner();
  const hasEnded = useSessionEnded();
  if (!hasAdminPages()) return <NotFoundPage />;
  if (owner.kind === 'account') return <Admission key={owner.token} account={owner} />;
  return hasEnded ? <SignedOut /> : <NotFoundPage />;
}

function Admission({ account }: { account: Account }) {
  const [isRefused, setRefused] = useState(false);
  const query = useQuery(
    {
      queryKey: keys.administration(account, 'admission'),
      queryFn: async ({ signal }) => {
        try {
          await listReports(account, null, { signal });
        } catch (error) {
          // The tool asks for the password.
          if (failureCode(error) !== 'confirm') throw error;
        }
        return true;
      },
      staleTime: Infinity,
    },
    cache,
  );
  const tool = usePart(loadTool, query.data === true);

  if (isRefused || failureCode(query.error) === 'not-allowed') return <NotFoundPage />;
  return (
    <Page wide title={messages.title} description={messages.description}>
      {tool ? (
        <tool.AdminTool account={account} onRefused={() => setRefused(true)} />
      ) : (
        <Loaded query={query} texts={messages}>
          {() => <Spinner label={messages.loading} />}
        </Loaded>
      )}
    </Page>
  );
}
