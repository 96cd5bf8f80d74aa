export { default } from '@adoption-store/test-support/jest';
