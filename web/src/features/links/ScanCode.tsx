import { scanUrl } from '../../api/scanCodes';
import { TextButton } from '../../components/TextButton';
import { VisuallyHidden } from '../../components/VisuallyHidden';
import { copyWords, useCopy } from '../../components/useCopy';
import { shortAddress } from '../../lib/config';
import { details } from './messages';
import part from './Part.module.css';
import styles from './ScanCode.module.css';

/** The URL in the QR codes of a link, in the list of its fields. */
export function ScanCode({ scanCode, domain }: { scanCode: string; domain: string | undefined }) {
  const [copied, copy] = useCopy();
  return (
    <div className={part.part}>
      <dt>{details.scanCode}</dt>
      <dd>
        <span className={`${part.value} ${styles.address}`} translate="no">
          {shortAddress(scanCode, domain).toUpperCase()}
        </span>{' '}
        <span className={part.action}>
          <TextButton variant="primary" onClick={() => copy(scanUrl(scanCode, domain))}>
            {copyWords[copied]} <VisuallyHidden>{details.theScanCode}</VisuallyHidden>
          </TextButton>
        </span>
      </dd>
    </div>
  );
}
