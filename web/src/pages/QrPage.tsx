import { useLocation } from 'react-router-dom';
import { Page } from '../components/Page';
import { Steps } from '../components/Steps';
import { page } from '../features/qr/messages';
import { QrStudio } from '../features/qr/QrStudio';

export default function QrPage() {
  const { state } = useLocation() as { state: { url?: unknown } | null };
  return (
    <Page title={page.title} description={page.description}>
      <h1>{page.heading}</h1>
      <QrStudio initialText={typeof state?.url === 'string' ? state.url : ''} />
      <Steps title={page.howTo} steps={page.steps} />
    </Page>
  );
}
