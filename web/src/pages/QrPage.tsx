import { useLocation } from 'react-router-dom';
import { Page } from '../components/Page';
import { Steps } from '../components/Steps';
import { QrStudio } from '../features/qr/QrStudio';

const steps = [
  {
    title: 'CREATE QR CODE',
    text: 'Enter the link and, if you like, a name for the file to download.',
  },
  {
    title: 'CUSTOMIZE',
    text: 'Add a logo in the center, change the QR and background colors.',
  },
  { title: 'SHARE IT', text: 'Download it, then share or print it.' },
];

export default function QrPage() {
  const { state } = useLocation() as { state: { url?: unknown } | null };
  return (
    <Page
      title="Custom QR code generator"
      description="Make a QR code in your colors, with your logo in its center, and download it as a PNG. It never leaves your browser."
    >
      <h1>CUSTOM QR CODE GENERATOR</h1>
      <QrStudio initialText={typeof state?.url === 'string' ? state.url : ''} />
      <Steps title="HOW TO USE" steps={steps} />
    </Page>
  );
}
