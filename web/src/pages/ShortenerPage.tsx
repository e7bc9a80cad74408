import { Page } from '../components/Page';
import { Steps } from '../components/Steps';
import { Elsewhere } from '../features/shorten/Elsewhere';
import { Shortener } from '../features/shorten/Shortener';
import { messages } from './shortenerMessages';

export default function ShortenerPage() {
  return (
    <Page title={messages.title} description={messages.description}>
      <h1>{messages.heading}</h1>
      <Shortener focused />
      <Steps title={messages.howTo} steps={messages.steps} />
      <Elsewhere />
    </Page>
  );
}
