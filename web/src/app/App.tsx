import { BrowserRouter } from 'react-router-dom';
import { Frame } from './Frame';
import { Providers } from './Providers';
import { AppRoutes } from './routes';

export function App() {
  return (
    <BrowserRouter>
      <Providers>
        <Frame>
          <AppRoutes />
        </Frame>
      </Providers>
    </BrowserRouter>
  );
}
