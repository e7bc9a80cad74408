import type * as english from '../../../../features/statistics/messages';
import { formatPercent, nameDay } from '../../../../lib/calendar';
import { formatNumber, plural } from '../../../../lib/format';
import { counted } from '../../lib/counted';

const people = (count: number) => counted(count, 'persona', 'personas');
const bots = (count: number) => counted(count, 'bot', 'bots');
const dailyVisitors = (count: number) => counted(count, 'visitante diario', 'visitantes diarios');
const isFeminine = (period: string) => period.endsWith('horas');

export const messages: typeof english.messages = {
  title: 'Estadísticas',
  loading: 'Cargando las estadísticas',
  loadFailed: 'Las estadísticas no se han cargado.',
  tooManyLinks:
    'Las estadísticas de todos los enlaces están disponibles para un máximo de 100.000 enlaces. Cada enlace tiene sus estadísticas en su propia página.',
  noVisits: 'No hay visitas en este periodo.',
  stale: 'Puede que estas cifras no estén al día: las últimas no se han cargado.',

  allLinks: 'Todos los enlaces',
  allStatistics: 'Estadísticas de todos los enlaces',
  hideStatistics: 'Ocultar las estadísticas',
  summary: (count, period, others) => (
    <>
      {count} en {isFeminine(period) ? 'las últimas' : 'los últimos'} {period}, {others}
    </>
  ),

  people: 'Personas',
  dailyVisitors: 'Visitantes diarios',
  bots: 'Bots',
  botsApart: 'Bots (no incluidos)',
  countPeople: people,
  countPerson: (count) => plural(count, 'persona', 'personas'),
  countBots: bots,
  countDailyVisitors: dailyVisitors,

  period: 'Periodo',
  periods: {
    '24 hours': '24 horas',
    '7 days': '7 días',
    '30 days': '30 días',
    '90 days': '90 días',
    '12 months': '12 meses',
    all: 'Todo',
  },
  dates: 'Fechas',
  days: (count) => counted(count, 'día', 'días'),
  firstDay: 'Primer día',
  lastDay: 'Último día',
  showDates: 'Mostrar',
  noDates: 'Introduce dos fechas.',
  datesReversed: 'El último día no puede ser anterior al primero.',
  tooManyDays: (max) => `Elige ${counted(max, 'día', 'días')} como máximo.`,

  previous: (period) => `${isFeminine(period) ? 'las' : 'los'} ${period} anteriores`,
  previousDay: 'el día anterior',
  same: (previous) => `lo mismo que en ${previous}`,
  almostSame: (previous) => `casi lo mismo que en ${previous}`,
  none: (previous) => `nada en ${previous}`,
  more: (share, previous) => `${formatPercent(share)} más que en ${previous}`,
  fewer: (share, previous) => `${formatPercent(share)} menos que en ${previous}`,

  peopleBy: {
    hour: 'Personas por hora',
    day: 'Personas por día',
    week: 'Personas por semana',
    month: 'Personas por mes',
  },
  dotted: (previous) => `Línea de puntos: ${previous}`,
  step: (name, figures, before) => `${name}: ${figures.join(', ')}${before}`,
  earlier: (distance, count) => `; ${distance} antes: ${people(count)}`,
  weekOf: (day) => `Semana del ${day}`,
  hourOf: (day, time) => `${day}, ${time}`,
  utcOffset: (offset) => ` (UTC${offset})`,
  showTable: 'Mostrar como tabla',
  hideTable: 'Ocultar la tabla',
  csv: 'CSV',
  steps: { hour: 'Hora', day: 'Día', week: 'Semana', month: 'Mes' },
  peopleIn: (previous) => `Personas en ${previous}`,

  mostVisited: 'Más visitados',
  dimensions: {
    referrer: 'Procedencia',
    device: 'Dispositivos',
    country: 'Países',
    browser: 'Navegadores',
    system: 'Sistemas operativos',
    language: 'Idiomas',
    source: 'Origen',
  },
  noReferrer: 'Directa o desconocida',
  unknown: 'Desconocido',
  others: 'Otros',
  sources: { link: 'Enlace', qr: 'Código QR' },
  devices: { desktop: 'Ordenador', phone: 'Teléfono', tablet: 'Tableta', other: 'Otro' },
  showAll: (count) => `Mostrar los ${formatNumber(count)}`,
  showFewer: 'Mostrar menos',
  of: (title) => `de ${title}`,

  timeZone: (zone) =>
    zone === 'UTC'
      ? 'Las fechas están en UTC.'
      : `Las fechas están en ${zone}. Las listas abarcan días UTC completos.`,
  partHours:
    'La diferencia de esta zona horaria con UTC no es un número entero de horas. Las visitas se cuentan en la hora en la que empezó su hora UTC.',
  keptFrom: (day) => `Las estadísticas diarias anteriores al ${nameDay(day)} ya no se conservan.`,

  table: {
    fields: [
      'tipo',
      'nombre',
      'personas',
      'visitantes diarios',
      'bots',
      'personas en el periodo anterior',
    ],
    timeZone: 'zona horaria',
    keptFrom: 'conservadas desde',
    total: 'total',
    range: (from, to) => `del ${from} al ${to}`,
    previous: 'periodo anterior',
  },
};
