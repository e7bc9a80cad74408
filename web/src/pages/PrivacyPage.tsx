import { Page } from '../components/Page';
import { privacy } from '../features/legal/messages';
import { Privacy } from '../features/legal/Privacy';

export default function PrivacyPage() {
  return (
    <Page title={privacy.title} description={privacy.description}>
      <Privacy />
    </Page>
  );
}
