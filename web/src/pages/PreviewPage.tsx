import { useParams } from 'react-router-dom';
import { Page } from '../components/Page';
import { messages } from '../features/preview/messages';
import { PreviewView } from '../features/preview/PreviewView';
import { overOf } from '../features/redirect/over';
import { WhyBlocked } from '../features/redirect/WhyBlocked';
import { isCode } from '../lib/codes';
import { shortAddress } from '../lib/config';
import { NotFoundPage } from './NotFoundPage';

/** The preview of a link, for visitors who want to see it before following it. */
export default function PreviewPage() {
  const { code = '' } = useParams();
  if (!isCode(code)) return <NotFoundPage />;
  return (
    <PreviewView
      key={code}
      code={code}
      page={(children) => (
        <Page title={messages.title(shortAddress(code))} description={messages.description}>
          {children}
        </Page>
      )}
      over={({ state, reason }) => {
        const { message, blocked } = overOf({ state, reason, url: null });
        return (
          <>
            <p>{message}</p>
            {blocked && (
              <p>
                <WhyBlocked />
              </p>
            )}
          </>
        );
      }}
      otherwise={<NotFoundPage />}
    />
  );
}
