import { Page } from '../components/Page';
import { terms } from '../features/legal/messages';
import { Terms } from '../features/legal/Terms';

export default function TermsPage() {
  return (
    <Page title={terms.title} description={terms.description}>
      <Terms />
    </Page>
  );
}
