import { Page } from '../components/Page';
import { Terms } from '../features/legal/Terms';

export default function TermsPage() {
  return (
    <Page
      title="Terms of use"
      description="The rules for using Atajo: links of up to 999 characters, what is stored, what is not allowed and which law applies."
    >
      <Terms />
    </Page>
  );
}
