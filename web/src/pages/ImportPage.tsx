import { Link } from 'react-router-dom';
import { Page } from '../components/Page';
import { SignedOut } from '../components/SignedOut';
import { Importer } from '../features/import/Importer';
import { messages } from '../features/import/messages';
import { useOwner } from '../lib/owner';
import { paths } from '../lib/paths';

export default function ImportPage() {
  const owner = useOwner();
  if (owner.kind !== 'account') return <SignedOut />;

  return (
    <Page title={messages.title} description={messages.description}>
      <h1>{messages.title}</h1>
      <p>
        <Link to={paths.account}>{messages.yourLinks}</Link>
      </p>
      <Importer key={owner.token} account={owner} />
    </Page>
  );
}
