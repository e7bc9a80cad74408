import type * as english from '../../../../features/legal/messages';

export const article: typeof english.article = {
  contents: 'Contenido',
  since: (date) => <>En vigor desde el {date}</>,
  operator: 'el responsable de este sitio',
};

export const terms: typeof english.terms = {
  title: 'Condiciones de uso',
  description:
    'Las reglas para usar Atajo: enlaces de hasta 999 caracteres, qué se guarda, qué no está permitido y qué ley se aplica.',
  intro: 'Las reglas para usar Atajo. Si lo usas, las aceptas.',

  service: {
    title: 'El servicio',
    text: 'Atajo convierte un enlace largo en uno corto y redirige al enlace largo a todo el que lo abre. También crea códigos QR, que se dibujan en tu navegador.',
    ownership:
      'Ambas cosas son gratuitas y no exigen una cuenta. Los enlaces que creas sin cuenta pertenecen al navegador en el que los creaste: allí puedes ver sus visitas, cambiarlos y eliminarlos. Con una cuenta encuentras tus enlaces donde inicies sesión, puedes añadirle los enlaces de un navegador y puedes elegir terminaciones personalizadas de 4 a 32 caracteres.',
    accountsOnly:
      'Ambas cosas son gratuitas. Para crear enlaces cortos hace falta una cuenta, con la que encuentras tus enlaces donde inicies sesión y puedes elegir terminaciones personalizadas de 4 a 32 caracteres. Los códigos QR no la exigen.',
  },
  links: {
    title: 'Enlaces',
    limits:
      'Un enlace puede tener 999 caracteres como máximo y debe ser una dirección web (http o https). Los enlaces cortos del propio Atajo se rechazan, porque redirigirían en círculo.',
    settings:
      'El propietario de un enlace puede añadirle un título, etiquetas y una fecha de caducidad, y puede cambiar su destino. Los destinos anteriores se guardan con la hora de cada cambio, y solo los ve el propietario. Un enlace caducado muestra que ha caducado o redirige al destino que su propietario eligió para ese caso.',
    public:
      'Cualquiera que tenga un enlace corto puede abrirlo. No acortes enlaces que deban seguir siendo secretos.',
  },
  conduct: {
    title: 'Uso prohibido',
    intro: 'No uses Atajo:',
    rules: [
      'para nada que sea ilegal en tu país o en España;',
      'para llevar a otras personas a software malicioso, fraudes o datos robados, ni para ocultar quién está detrás;',
      'para enviar mensajes no solicitados;',
      'para sobrecargar el servicio ni para eludir sus límites.',
    ],
    consequences:
      'El responsable puede bloquear o eliminar los enlaces que incumplan estas reglas y borrar cuentas. Un enlace bloqueado muestra que se ha bloqueado. El número de enlaces, registros e inicios de sesión por periodo está limitado.',
  },
  accounts: {
    title: 'Cuentas',
    use: 'Una cuenta pertenece a una dirección de correo electrónico. Mantén tu contraseña en secreto: respondes de lo que se haga con ella. Una sesión dura cuatro horas. Si cambias la contraseña, terminan todas las demás sesiones.',
    data: 'Cuando te registras, guardamos: tu correo electrónico, tu contraseña cifrada, su sal, tu nombre de usuario y la fecha de creación.',
  },
  stored: {
    title: 'Datos guardados de los enlaces',
    data: 'De cada enlace: su código, la URL original y la fecha de creación. De los enlaces de usuarios registrados, además, el identificador de quien lo creó y el número de visitas. De los enlaces que pertenecen a un navegador, en lugar del identificador, un resumen criptográfico de la clave de ese navegador, y el número de visitas.',
    settings:
      'Los ajustes de un enlace se guardan con él: título, etiquetas, fecha de caducidad, destino tras la caducidad y destinos anteriores.',
    more: ({ privacy }) => (
      <>
        La {privacy('política de privacidad')} explica por qué, durante cuánto tiempo y qué más se
        cuenta.
      </>
    ),
  },
  keeping: {
    title: 'Conservación y borrado',
    links:
      'Los enlaces y las cuentas se guardan hasta que se eliminan. Tú puedes eliminar un enlace. Deja de funcionar en segundos. Puedes recuperarlo, con sus visitas, durante 30 días. Después, sus destinos, su título, sus etiquetas y sus recuentos se borran para siempre.',
    account: ({ settings }) => (
      <>
        Puedes borrar tu cuenta en sus {settings('ajustes')}. Con ella se borran todos sus enlaces y
        las estadísticas de estos, y nada se puede recuperar. Antes puedes descargar allí tus
        enlaces.
      </>
    ),
    contact: ({ contact }) => (
      <>
        El código de un enlace eliminado no se vuelve a usar. Si no puedes eliminar un enlace o una
        cuenta por tu cuenta, escribe a {contact}.
      </>
    ),
  },
  liability: {
    title: 'Sin garantía',
    text: 'Atajo se ofrece gratis y tal como es, sin garantía de que esté siempre disponible ni de que no tenga errores. Las páginas a las que llevan los enlaces cortos son de otros. Atajo no responde de ellas ni de lo que ocurra en ellas.',
    rights: 'Nada en estas condiciones limita los derechos irrenunciables por ley.',
  },
  law: {
    title: 'Ley aplicable',
    text: 'Estas condiciones se rigen por la ley española y por el derecho de la Unión Europea. Los consumidores de la Unión Europea también pueden demandar ante los tribunales del lugar donde viven.',
  },
  changes: {
    title: 'Cambios de estas condiciones',
    text: 'Cuando cambian estas condiciones, cambia la fecha de arriba. Siempre puedes pedir que se eliminen enlaces anteriores.',
  },
  contact: {
    title: 'Contacto',
    text: ({ contact }) => (
      <>Envía a {contact} tus preguntas y tus avisos sobre enlaces que incumplan estas reglas.</>
    ),
  },
};

export const privacy: typeof english.privacy = {
  title: 'Política de privacidad',
  description:
    'Qué datos guarda Atajo sobre enlaces, visitas y cuentas, por qué, durante cuánto tiempo y cómo borrarlos. Sin cookies y sin guardar direcciones IP.',
  intro: 'Qué datos guarda Atajo, por qué, durante cuánto tiempo y cómo borrarlos.',

  controller: {
    title: 'Responsable',
    text: ({ contact }) => (
      <>
        El responsable de este sitio es el responsable del tratamiento de los datos descritos aquí.
        Contacto: {contact}.
      </>
    ),
  },
  links: {
    title: 'Enlaces',
    purpose:
      'El código, el destino y la fecha de creación se guardan porque el enlace corto no puede funcionar sin ellos. El propietario se guarda para que pueda gestionar el enlace. Los demás datos son los que el propietario añade al enlace.',
    guests:
      'Si no has iniciado sesión, tu navegador genera una clave aleatoria, la guarda en el almacenamiento local y la envía con cada petición sobre tus enlaces. Quien tenga la clave es el propietario de esos enlaces. El servidor solo guarda el resumen SHA-256 de la clave, del que no se puede calcular la clave. Cuando inicias sesión, las páginas te ofrecen añadir esos enlaces a tu cuenta. Si aceptas, la clave se borra.',
    caution:
      'Una URL, un título y unas etiquetas pueden contener datos personales. Compruébalos antes de guardarlos.',
    list: 'Estos son todos los datos que se guardan sobre un enlace, cada uno con los nombres de sus campos en la base de datos:',
  },
  visits: {
    title: 'Visitas a enlaces cortos',
    counting:
      'Cada visita a un enlace corto se cuenta para el propietario del enlace: una vez en su hora y una vez por cada propiedad de la lista de abajo. Las propiedades no se combinan nunca, así que nadie puede saber, por ejemplo, qué navegador usó una visita de un país determinado. Una vez contada, no se guarda nada de cada visita.',
    ipAddress:
      'No se guarda ninguna dirección IP ni se usa ninguna cookie. El país se averigua con la dirección IP durante la petición. La dirección IP solo permanece en memoria, como mucho hasta el final del día. Tampoco se guardan el User-Agent completo ni la procedencia completa (la URL de la página que enlazaba el enlace corto).',
    visitors:
      'Para estimar el número de visitantes de un día, la dirección IP y el User-Agent se resumen con una clave aleatoria de ese día. Solo se guarda un esbozo para la estimación, y la clave se borra cuando acaba el día. Después, nadie puede saber si una dirección IP hizo una visita. A los visitantes no se los reconoce otro día.',
    journal:
      'Hasta que se cuenta, normalmente menos de un segundo, una visita espera en un archivo de registro. El archivo se borra cuando se ha empezado otro y se han contado todas sus visitas. Contiene:',
  },
  accounts: {
    title: 'Cuentas',
    purpose:
      'Los datos de la cuenta se guardan para que tú, y solo tú, puedas iniciar sesión. La base jurídica es el contrato que aceptas al registrarte.',
    password:
      'Cuando inicias sesión, o confirmas con tu contraseña un cambio en los ajustes, se envía al servidor, cifrada por el camino si el sitio usa HTTPS. El servidor la compara con el resumen y no la guarda.',
  },
  reports: {
    title: 'Denuncias',
    text: 'Una denuncia se envía al responsable de este sitio y a nadie más. Al propietario del enlace no se le avisa. Introduce tu correo electrónico solo si el responsable puede escribirte. Aparte de lo que introduces, no se guarda nada sobre ti, ni siquiera si habías iniciado sesión.',
  },
  limits: {
    title: 'Protección contra abusos',
    text: 'Los inicios de sesión fallidos se cuentan durante 15 minutos, para proteger las cuentas de quien adivina contraseñas. Las peticiones se cuentan por dirección IP para limitar su número, durante poco tiempo y solo en memoria.',
  },
  browser: {
    title: 'Cookies y almacenamiento local',
    text: 'Atajo no usa cookies. Guarda lo siguiente en el almacenamiento local de tu navegador, solo en tu dispositivo:',
    cache:
      'Los archivos de las páginas se guardan en la caché de tu navegador, para que se abran sin conexión.',
    qr: 'Los códigos QR se crean por completo en tu navegador. Su contenido y tu logotipo no se envían a ningún sitio. Para el código QR de uno de tus enlaces, la página pide un segundo código de ese enlace, más corto. Las páginas no cargan nada de otros sitios.',
  },
  service: {
    title: 'Datos técnicos',
    text: 'El servicio guarda además datos técnicos, que no tratan de ninguna persona. Los registros describen errores y no contienen URL, direcciones IP o de correo electrónico, contraseñas, claves ni tokens.',
  },
  keeping: {
    title: 'Conservación',
    links:
      'Los enlaces y las cuentas se guardan hasta que se eliminan. Un enlace eliminado se puede recuperar durante 30 días. Después, sus destinos, su título, sus etiquetas y sus recuentos se borran para siempre. Solo se conserva su código, para que no se vuelva a usar. Un enlace caducado se guarda hasta que se elimina.',
    reports:
      'Las denuncias de un enlace se borran 90 días después de que el responsable decida sobre ellas, y antes si el enlace se borra para siempre.',
    account: ({ settings, contact }) => (
      <>
        Si borras tu cuenta en sus {settings('ajustes')}, deja de poder usarse desde ese momento.
        Sus enlaces, también los eliminados, dejan de funcionar en segundos. Después se borran ellos
        y sus estadísticas y, por último, el resto de la cuenta. Para lo que no puedas borrar tú,
        escribe a {contact}.
      </>
    ),
  },
  sharing: {
    title: 'Cesión de datos',
    text: 'Estos datos no se venden, ni se alquilan, ni se ceden con fines publicitarios. Solo se comunican cuando la ley lo exige. El sitio al que lleva un enlace corto recibe los mismos datos que de cualquier visitante, y de ellos responde su propietario.',
  },
  rights: {
    title: 'Tus derechos',
    gdpr: ({ settings, contact }) => (
      <>
        Según el Reglamento General de Protección de Datos (RGPD) y la ley española, tienes derecho
        a acceder a tus datos, rectificarlos, suprimirlos y llevártelos, a limitar su tratamiento y
        a oponerte a él. En los {settings('ajustes')} de tu cuenta puedes descargar tus enlaces como
        CSV o JSON y borrar la cuenta. Para todo lo demás, escribe a {contact} desde el correo
        electrónico de tu cuenta.
      </>
    ),
    authority:
      'También tienes derecho a presentar una reclamación ante una autoridad de control, en España la Agencia Española de Protección de Datos.',
  },
  changes: {
    title: 'Cambios de esta política',
    text: ({ terms: link }) => (
      <>
        Cuando cambia esta política, cambia la fecha de arriba. También se aplican las{' '}
        {link('condiciones de uso')}.
      </>
    ),
  },
};

export const stored: typeof english.stored = {
  links: {
    code: 'El código. Se conserva cuando se borra el enlace, para que no se vuelva a usar.',
    scanCode: 'El segundo código, para los códigos QR del enlace, si lo creaste, y su enlace.',
    destination: 'El destino.',
    owner:
      'El propietario: el identificador de una cuenta o el resumen SHA-256 de la clave del almacenamiento local de un navegador. Vacío si el enlace no tiene propietario.',
    created: 'La fecha de creación.',
    labels:
      'El título y las etiquetas, y una copia en minúsculas de ellos con el código y el destino para la búsqueda.',
    expiry: 'La fecha de caducidad y el destino tras la caducidad.',
    domain: 'El dominio de la URL corta, si elegiste uno.',
    history: 'El destino original, los destinos anteriores y las horas en que se cambiaron.',
    publicStatistics: 'Si sus estadísticas son públicas.',
    removed: 'Cuándo lo eliminaste.',
    blocked:
      'Por qué lo bloquearon el responsable o una lista de bloqueo, el nombre de la lista y si el responsable lo desbloqueó.',
    decisions:
      'Las decisiones del responsable o de un administrador sobre un enlace, sobre un host o una ruta a los que llevan enlaces, o sobre todos los enlaces de una cuenta: hora, acción, motivo, número de denuncias y la dirección de correo del administrador. Se conservan, solo con el código o el identificador de la cuenta, cuando se borra el enlace.',
    hosts:
      'Los hosts de sus destinos, para encontrar el enlace cuando cambia una lista de bloqueo.',
    counts:
      'Cuántos enlaces tienes en cada estado, cuántas personas abrieron cada uno y su orden por visitas, durante dos horas como máximo.',
    imports:
      'De cada importación: su identificador, el de tu cuenta, cuándo empezó, cuántos enlaces creó y cuántos de ellos deshiciste. De cada fila: su número, qué fue de ella, el código, una suma de verificación que muestra si cambiaste el enlace y si la deshiciste. Todo esto se borra a los 30 días.',
    creations:
      'De cada petición a la API que creó enlaces: un resumen de su clave de idempotencia, el identificador de tu cuenta, la hora, un resumen de la petición y la respuesta con los enlaces tal como se crearon. Todo esto se borra al cabo de un día, y antes si uno de los enlaces se borra para siempre.',
  },
  visits: {
    totals: 'Cuántas personas y bots abrieron el enlace desde que se creó, y en qué días.',
    hours: 'Cuántas personas y bots lo abrieron en cada hora de un día.',
    referrer:
      'La procedencia: solo el host de la página que lo enlazaba, como news.example, o la aplicación de Android.',
    device: 'El tipo de dispositivo: ordenador, teléfono, tableta u otro.',
    browser: 'El navegador, sin su versión.',
    system: 'El sistema operativo, sin su versión.',
    language: 'El idioma preferido, como es.',
    country: 'El país, como dos letras.',
    source: 'Si la visita llegó por el enlace o por su código QR.',
    visitors:
      'El número de visitantes del día, como un esbozo de 4 kB como máximo para una estimación.',
    unreadable:
      'De estos registros, los que no se pudieron leer: se apartan tal como están y se eliminan con los demás del enlace.',
    visitorKey:
      'La clave aleatoria del día en curso, la misma para todos los enlaces. Se borra cuando acaba el día.',
  },
  journal: {
    visit:
      'El código, la hora, si era una persona o un bot, y el host de procedencia o la aplicación de Android.',
    properties:
      'De las personas: dispositivo, navegador, sistema operativo, idioma, país y origen, tal como se cuentan.',
    visitor: 'El resumen del visitante, calculado con la clave del día.',
  },
  accounts: {
    id: 'Un identificador aleatorio.',
    email:
      'Tu correo electrónico, tal como lo introdujiste y en una forma normalizada para buscarlo.',
    username: 'Tu nombre de usuario.',
    password: 'Un resumen bcrypt de tu contraseña, calculado en tu navegador, y su sal.',
    created: 'Cuándo te registraste.',
    sessions:
      'De cada sesión: un identificador aleatorio, cuándo empezó, cuándo termina, la hora de su último uso, cuándo enviaste por última vez en ella la contraseña o una clave de acceso, y los nombres de su navegador y de su sistema operativo; 100 como máximo. Una sesión terminada se borra cuando vuelves a iniciar sesión. Además, cuántas veces terminaron varias sesiones a la vez y si borraste la cuenta.',
    role: 'Si tienes permisos de administración y si tu cuenta está suspendida.',
    lastSeen: 'La hora en la que tú o una de tus claves de API usasteis tu cuenta por última vez.',
    invitations:
      'De una invitación a registrarse: un identificador aleatorio, un resumen SHA-256, del que no se puede calcular la invitación, el correo electrónico al que se dirige, si es para una persona que administra o para la primera cuenta, cuándo se creó y cuándo caduca. Todo esto se borra cuando se usa o se revoca. Una caducada se borra con la siguiente invitación.',
    decisions:
      'Decisiones sobre cuentas e invitaciones: un identificador aleatorio, la hora, la acción, el identificador de la cuenta o de la invitación, su función, el correo electrónico de la persona que decidió y una copia en minúsculas de todo ello para buscar. Se conservan después de borrar una cuenta, para que quien administra pueda dar cuenta de lo que hizo.',
    apiKeys:
      'De cada una de tus claves de API: un identificador aleatorio, su nombre, sus 12 primeros caracteres, el resumen SHA-256 de la clave, del que no se puede calcular la clave, lo que permite, cuándo la creaste, la sesión en la que lo hiciste (su identificador, su comienzo y los nombres de su navegador y su sistema operativo), cuándo caduca y el minuto de su último uso. Todo esto se borra cuando revocas la clave.',
    recoveryCodes:
      'Un resumen scrypt de cada uno de tus códigos de recuperación y cuándo lo creaste, hasta que lo usas, creas otros o cambias la contraseña. Y el resumen de un código que el responsable creó para que pongas una contraseña nueva, con la hora en que caduca.',
    passkeys:
      'De cada una de tus claves de acceso: su identificador, su nombre, su clave pública, el número de sus firmas si tu dispositivo las cuenta, cuándo la añadiste, la sesión en la que lo hiciste (su identificador, su comienzo y los nombres de su navegador y su sistema operativo) y el minuto de su último uso. Las huellas, las caras y los PIN no salen nunca de tu dispositivo. Todo esto se borra cuando eliminas la clave de acceso.',
    connections:
      'Si inicias sesión con una cuenta de otro proveedor: quién es, tu identificador en él, el correo electrónico que indicó, cuándo se hizo la conexión y el minuto de su último uso. Todo esto se borra cuando eliminas la conexión. El proveedor sabe que inicias sesión aquí, y nada de tus enlaces.',
  },
  reports: {
    counts:
      'Por cada motivo por el que se denunció un enlace: un identificador aleatorio, el número de denuncias y la hora de la primera y de la última.',
    decided: 'Cuándo decidió el responsable sobre ella.',
    statements:
      'Los detalles de las cinco primeras denuncias que los tenían, el correo electrónico si se dio, y la hora.',
  },
  limits: {
    attempts:
      'El número de contraseñas y códigos de recuperación incorrectos de una cuenta, desde una dirección IP, desde un navegador o en una sesión, durante 15 minutos. Cada uno se guarda bajo un resumen con clave, del que nadie puede saber la cuenta, la dirección IP, el navegador ni la sesión. Y el número aleatorio de cada uso de una clave de acceso, durante siete minutos, para que nadie pueda repetirlo.',
    importedRows: 'Cuántas filas importó tu cuenta en un día. Se borra cuando acaba el día.',
  },
  browser: {
    token: 'El token de tu sesión, durante cuatro horas o hasta que cierras la sesión.',
    endedSessions:
      'El token de una sesión que cerraste, hasta que el servidor la cierre, como mucho cuatro horas.',
    username: 'Tu nombre de usuario, y si administras este sitio, hasta que cierras la sesión.',
    lastSession:
      'Unos caracteres de tu último token, o que tu sesión ha terminado, para que las páginas puedan decírtelo.',
    recoveryOffer: 'Tras un registro, que todavía no se te han ofrecido códigos de recuperación.',
    guestKey:
      'La clave de los enlaces que creaste sin cuenta, su número y si rechazaste añadirlos a tu cuenta. La clave se guarda hasta que los enlaces se añaden a una cuenta. Si borras los datos de este sitio, la clave se pierde y nadie puede ya cambiar ni eliminar esos enlaces desde un navegador.',
    device:
      'Un token firmado que muestra que ya iniciaste sesión desde este navegador. Se conserva cuando cierras la sesión y solo se envía al iniciarla, para que los intentos fallidos de otros no te impidan entrar. Si borras los datos de este sitio, se borra.',
    import:
      'Una importación de enlaces sin terminar, o la última: su número, tu nombre de usuario y, en la base de datos del navegador (IndexedDB), sus filas y resultados. Se conservan hasta que empiezas otra importación o cierras la sesión.',
    providerLogin:
      'Mientras inicias sesión con otro proveedor: una clave al azar de este inicio, la página a la que vas después y el código de una invitación o de la sesión que se confirma. Se borra cuando vuelves, o con la pestaña.',
    newApiKey:
      'Una clave de API que acabas de crear, para los ejemplos de la documentación de la API en la misma pestaña, hasta que cierras la pestaña, cierras la sesión o revocas la clave.',
    styles: 'Los estilos de códigos QR guardados, hasta que los borras.',
    theme: 'El tema, si elegiste uno.',
    language: 'El idioma, si elegiste uno.',
    pendingLink:
      'Un enlace que acortaste sin conexión, hasta que el servidor ha respondido o cierras la sesión.',
    campaignTags:
      'Las últimas etiquetas de campaña que usaste, como sugerencias para el próximo enlace.',
    reloaded:
      'En el almacenamiento de la sesión, hasta que cierras la pestaña: que una página se recargó porque había una versión nueva.',
  },
  service: {
    changes:
      'Los códigos de los enlaces cambiados, durante un día, y de los enlaces visitados, durante unos minutos, con sus horas.',
    gateways:
      'Qué servidores han enviado qué visitas, para que cada visita se cuente una sola vez, y cuántas ha enviado cada uno hoy y ayer.',
    tasks: 'Qué servidor ejecuta una tarea de fondo, su progreso y la versión de las tablas.',
  },
};
