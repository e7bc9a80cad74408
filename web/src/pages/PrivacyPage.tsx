import { Page } from '../components/Page';
import { Privacy } from '../features/legal/Privacy';

export default function PrivacyPage() {
  return (
    <Page
      title="Privacy policies"
      description="What Atajo stores of links, visits and accounts, why, for how long, and how to have it removed."
    >
      <Privacy />
    </Page>
  );
}
