import { useNavigate } from 'react-router-dom';
import { Button } from '../../components/Button';
import { actions } from '../../components/messages';
import { ShortAddress } from '../../components/ShortAddress';
import { copyWords, useCopy } from '../../components/useCopy';
import { shortUrl } from '../../lib/config';
import { paths } from '../../lib/paths';
import { canShare, share } from '../../lib/share';
import styles from './LinkHeader.module.css';
import { messages } from './messages';

/** The short URL and its actions. */
export function LinkHeader({ code, domain }: { code: string; domain: string | undefined }) {
  const [copied, copy] = useCopy();
  const navigate = useNavigate();
  const url = shortUrl(code, domain);
  return (
    <div className={styles.header}>
      <h1>
        <ShortAddress code={code} domain={domain} />
      </h1>
      <div className={styles.actions}>
        <Button variant="primary" onClick={() => copy(url)}>
          {copyWords[copied]}
        </Button>
        <Button onClick={() => void navigate(paths.qr, { state: { url } })}>{messages.qr}</Button>
        {canShare() && <Button onClick={() => void share(url)}>{actions.share}</Button>}
      </div>
    </div>
  );
}
