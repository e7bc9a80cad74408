import type * as english from '../../../pages/shortenerMessages';

export const messages: typeof english.messages = {
  title: 'Acortador',
  description: 'Acorta un enlace en tres pasos: ten un enlace, pégalo y compártelo.',
  heading: 'Acorta un enlace',
  howTo: 'Cómo se usa',
  steps: [
    { title: 'Ten un enlace', text: 'Cualquier URL demasiado larga para escribirla o enviarla.' },
    { title: 'Pega el enlace', text: 'Pégalo en el campo de arriba y pulsa Acortar.' },
    {
      title: 'Comparte el enlace',
      text: 'Haz clic en la URL corta para copiarla y compártela donde quieras.',
    },
  ],
};
