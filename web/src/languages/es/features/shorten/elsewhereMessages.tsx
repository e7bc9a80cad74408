import type * as english from '../../../../features/shorten/elsewhereMessages';

export const elsewhere: typeof english.elsewhere = {
  title: 'Desde cualquier sitio',
  nothingShared: 'En lo que se ha compartido no hay ningún enlace.',
  bookmarklet: 'En un ordenador',
  bookmark: 'Acortar con Atajo',
  bookmarkHint: (bookmark) => (
    <>
      Arrastra {bookmark} a tu barra de marcadores. Con un clic abre aquí el enlace de cualquier
      página.
    </>
  ),
  drag: 'Arrástralo a tu barra de marcadores.',
  phone: 'En un teléfono',
  phoneHint:
    'Instala Atajo desde el menú de tu navegador. Después aparece donde Android comparte enlaces.',
  iphone: (address) => (
    <>
      En un iPhone, crea un atajo que acepte URL de la hoja para compartir, con las acciones
      Codificar URL y Abrir URL. La URL es {address}, seguida del texto codificado.
    </>
  ),
  keyword: 'En la barra de direcciones',
  template: (address) => `${address}%s`,
  keywordHint: (address) => (
    <>
      Añade Atajo como motor de búsqueda en los ajustes de tu navegador, con una palabra clave. Su
      URL es {address}
    </>
  ),
};
