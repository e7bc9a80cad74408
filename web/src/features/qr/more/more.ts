/** All that comes when 'More options' is opened. */
export { loadLetters } from '../outline';
export { drawn, pdfFile, pngFile } from './files';
export { MoreOptions } from './MoreOptions';
export { StyledCanvas } from './StyledCanvas';
