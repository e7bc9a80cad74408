declare module 'virtual:react-colorful.css';
