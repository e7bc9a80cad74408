import { Page } from '../components/Page';
import { Steps } from '../components/Steps';
import { Shortener } from '../features/shorten/Shortener';

const steps = [
  { title: 'Have a link', text: 'Any address that is too long to say, print or send.' },
  { title: 'Paste the link', text: 'Put it in the field above and press Shorten.' },
  {
    title: 'Share the link',
    text: 'Click the short address to copy it, then send it anywhere.',
  },
];

export default function ShortenerPage() {
  return (
    <Page
      title="Shortener"
      description="Shorten a link in three steps: have a link, paste it, share the short address."
    >
      <h1>Shorten a link</h1>
      <Shortener focused />
      <Steps title="How to use" steps={steps} />
    </Page>
  );
}
